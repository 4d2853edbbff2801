export { matchLists } from './match-lists.js'
