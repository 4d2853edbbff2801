export { limitFailures } from './limit-failures.js'
export { type LinkContent, mintLink, openLink, sealLink } from './link.js'
export { createBox, type SealedBox } from './sealed-box.js'
