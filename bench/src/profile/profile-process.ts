import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename } from 'node:path'

// Loaded into API, worker and yardsticks by `--import`, since Node 20 takes no `--cpu-prof` from NODE_OPTIONS. Within a process the
// inspector responds synchronously, so the profile is complete when `exit` returns.
const directory = process.env.PROFILE_DIR ?? '.'
const entry = process.argv[1] ?? 'process'
/** The app of a part of the product, the file of a yardstick. */
const name = /.*\/apps\/([^/]+)\//.exec(entry)?.[1] ?? basename(entry, '.js')

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: 500 })
session.post('Profiler.start')

process.on('exit', () => {
  session.post('Profiler.stop', (error, { profile }) => {
    if (error) return
    mkdirSync(directory, { recursive: true })
    writeFileSync(`${directory}/${name}-${process.pid}.cpuprofile`, JSON.stringify(profile))
  })
})
