import type { Config, ProxyConfig } from './schema.ts';

/** Where clients find the forward proxy: scheme, host and port. */
export function proxyUrl({ tls }: ProxyConfig, { host, port }: Config['listen']['proxy']): string {
  const authority = host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${authority}:${port}`;
}
