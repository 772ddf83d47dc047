import type { Config } from '#shared/config/schema.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

/** Returns the limits of this listener, replaced by those of the configuration. */
export function configuredLimits(
  { server }: Pick<Config, 'server'>,
  own: Partial<ServerLimits> = {},
): Partial<ServerLimits> {
  const { headerBytes, pace, ...rest } = server;
  const { headersTimeout, requestTimeout, idleTimeout, keepAliveTimeout } = rest;
  return {
    ...rest,
    headersTimeout: headersTimeout * 1000,
    requestTimeout: requestTimeout * 1000,
    idleTimeout: idleTimeout * 1000,
    keepAliveTimeout: keepAliveTimeout * 1000,
    pace: { bytes: pace.bytes, milliseconds: pace.seconds * 1000 },
    ...own,
    ...(headerBytes !== undefined && { headerBytes }),
  };
}
