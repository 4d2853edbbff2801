import { openTcpProxy, type TcpProxy } from '../../storm/tcp-proxy.js'

/** An address that leads to the present primary of Redis, for the checks, which look at its keys. */
export async function openPrimaryAddress(
  findPrimary: () => { url: string; port: number },
): Promise<TcpProxy & { url: string }> {
  const proxy = await openTcpProxy(() => findPrimary().port)
  const url = new URL(findPrimary().url)
  url.port = String(proxy.port)
  return { ...proxy, url: url.href }
}
