const loopback = ['localhost', '127.0.0.1', '::1', '[::1]']

/**
 * Keeps `fetch` from asking the proxy of HTTP_PROXY for addresses of this machine, which the proxy cannot reach. Node asks it if
 * NODE_USE_ENV_PROXY is set, and reads NO_PROXY at each request.
 */
export function spareLoopback(environment: NodeJS.ProcessEnv = process.env): void {
  const name = environment.no_proxy ? 'no_proxy' : 'NO_PROXY'
  environment[name] = [environment[name], ...loopback].filter((part) => part).join(',')
}
