import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Log } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import { developmentCertificate } from '#shared/server/certificate.ts';
import { configuredLimits } from '#shared/server/configured-limits.ts';
import { listen } from '#shared/server/listen.ts';
import type { AnyHandler } from '#shared/server/message.ts';
import type { Beside } from '#shared/server/process.ts';
import { TICKETS } from '#shared/server/server-limits.ts';
import type { Certificate } from '#shared/server/versions.ts';

export interface OverTls {
  readonly config: Config;
  readonly tls: NonNullable<Config['tls']>;
  /** That of the listener in clear text. */
  readonly handler: AnyHandler;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The resource server's second listener: HTTP/2 or HTTP/1.1 over TLS, as the client chooses by ALPN. */
export function overTls(parts: OverTls): Beside {
  const { config, handler, clock, log } = parts;
  return {
    name: 'resourceTls',
    async open() {
      const { host, port } = config.listen.resourceTls;
      const certificate = await certificateOf(parts);
      const http2 = { handler, certificate };
      const limits = configuredLimits(config, TICKETS);
      return listen({ host, port, handler, http2, limits, log, clock });
    },
  };
}

/** Rejects when a file cannot be read. */
async function certificateOf({ config, tls, clock, random }: OverTls): Promise<Certificate> {
  const { certificate, key } = tls;
  if (certificate === undefined || key === undefined) {
    const { hostname } = new URL(tls.resource);
    return developmentCertificate({
      folder: join(config.data, 'tls'),
      host: hostname,
      clock,
      random,
    });
  }
  return { key: await readFile(key), cert: await readFile(certificate) };
}
