export { FairSlots, type SlotLimits } from './fair-slots.js'
export { FairTurns } from './fair-turns.js'
export { type Owned, ownerOf } from './owner.js'
export { TooMuchAtOnce } from './too-much-at-once.js'
