import { once, setMaxListeners } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import type { AttackOrder } from './attack-in-thread.js'
import { Attacker } from './attacker.js'
import { attacks } from './attacks.js'

const { name, workspace, links } = workerData as AttackOrder
const attack = attacks.find((known) => known.name === name)
if (attack === undefined || parentPort === null) throw new Error(`Not a thread for the attack ${name}`)

const stop = new AbortController()
// Each connection that is held listens to it.
setMaxListeners(0, stop.signal)
const attacker = new Attacker(workspace, stop.signal)
const attackBy = await attack.begin(workspace, links)
parentPort.postMessage('ready')
await once(parentPort, 'message')
const attacking = attackBy(attacker)
await once(parentPort, 'message')
stop.abort()
await attacking
parentPort.postMessage(attacker.responses)
parentPort.close()
