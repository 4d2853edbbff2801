export { cleanRule, type Planted, plantedCodes, plantFault } from './faults.js'
export { refute } from './oracle.js'
export { Random } from './random.js'
export { Domain } from './random-events.js'
