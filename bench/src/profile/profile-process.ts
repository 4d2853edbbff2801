import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

// Loaded into API, worker and yardsticks by `--import`, since Node 20 takes no `--cpu-prof` from NODE_OPTIONS. The first SIGURG begins a CPU
// profile, the next one ends it and writes PROFILE_DIR/<pid>.cpuprofile. Within a process the inspector responds synchronously.
if (isMainThread) {
  const { PROFILE_DIR: directory = '.' } = process.env
  const entry = process.argv[1] ?? 'process'
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 500 })
  let isRunning = false
  process.on('SIGURG', () => {
    isRunning = !isRunning
    if (isRunning) return session.post('Profiler.start')
    session.post('Profiler.stop', (error, result) => {
      const file = `${directory}/${process.pid}.cpuprofile`
      writeFileSync(`${file}.new`, JSON.stringify(error ?? result.profile))
      renameSync(`${file}.new`, file)
    })
  })
  // The app of a part of the product, the file of a yardstick. The file says that this process knows the signal.
  const name = /.*\/apps\/([^/]+)\//.exec(entry)?.[1] ?? basename(entry, '.js')
  writeFileSync(`${directory}/${process.pid}.process`, name)
}
