import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { listenerOf } from '#shared/config/local-origin.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { developmentCertificate } from './listen/certificate.ts';
import { configuredLimits } from './limits/configured-limits.ts';
import { listen } from './listen/listen.ts';
import type { RefusalAt } from './message/connection-error.ts';
import type { AnyHandler } from './message/message.ts';
import type { Beside } from './process.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import type { Certificate } from './listen/versions.ts';

/** Files in PEM; without both, the certificate of development is used. */
export interface CertificateFiles {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface OverTls {
  /** The listener's member of `listen` in the configuration. */
  readonly name: 'resourceTls' | 'authzTls';
  readonly files: CertificateFiles;
  readonly config: Config;
  readonly handler: AnyHandler;
  readonly webSockets?: boolean;
  readonly refusalAt?: RefusalAt;
  readonly limits?: Partial<ServerLimits>;
  /** The origin that the certificate must name; no TLS session is then resumed. */
  readonly boundTo?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Creates a server's second listener: HTTP/2 or HTTP/1.1 over TLS, as the client chooses by ALPN. */
export function overTls(parts: OverTls): Beside {
  const { name, files, config, handler, webSockets = false, refusalAt, boundTo } = parts;
  const { clock, random, log } = parts;
  return {
    name,
    async open({ admission }) {
      const { host, port } = listenerOf(config, name);
      const certificate = await certificateOf(config, files, clock, random);
      if (boundTo !== undefined) checkName(certificate, boundTo);
      const http2 = { handler, certificate, resumption: boundTo === undefined };
      const limits = configuredLimits(config, parts.limits);
      const common = { handler, http2, webSockets, refusalAt, limits, admission, log, clock };
      return listen({ host, port, ...common });
    },
  };
}

/** Throws if the certificate is for another host. */
function checkName({ cert }: Certificate, origin: string): void {
  const host = new URL(origin).hostname.replaceAll(/[[\]]/g, '');
  const certificate = new X509Certificate(cert);
  const named = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (named === undefined) throw new Error(`the certificate is not of ${host}: correct the file`);
}

/** Reads the certificate. Rejects if a file cannot be read. In development one certificate serves all TLS origins. */
export async function certificateOf(
  config: Pick<Config, 'data' | 'tls' | 'privateTokens'>,
  { certificate, key }: CertificateFiles,
  clock: Clock,
  random: Random,
): Promise<Certificate> {
  if (certificate !== undefined && key !== undefined) {
    return { key: await readFile(key), cert: await readFile(certificate) };
  }
  const origins = [config.tls?.resource, config.privateTokens?.issuer];
  const hosts = origins.flatMap((origin) => (origin === undefined ? [] : new URL(origin).hostname));
  return developmentCertificate({ folder: join(config.data, 'tls'), hosts, clock, random });
}
