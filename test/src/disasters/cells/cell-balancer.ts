import { LoadBalancer } from '../servers/load-balancer.js'
import type { Runbook } from './runbook.js'

/** HAProxy in front of two cells, as the guide configures it: a map says which workspaces the second one has. */
export async function openCellBalancer(
  haproxy: string,
  directory: string,
  runbook: Runbook,
  ports: { first: number; second: number },
): Promise<LoadBalancer> {
  await runbook.prepare()
  return LoadBalancer.openWith(haproxy, directory, (port) =>
    runbook.haproxy
      .replace(/bind .*/, `bind 127.0.0.1:${port}`)
      .replace(/10\.0\.1\.10:\d+/, `127.0.0.1:${ports.first}`)
      .replace(/10\.0\.2\.10:\d+/, `127.0.0.1:${ports.second}`)
      .concat('\n'),
  )
}
