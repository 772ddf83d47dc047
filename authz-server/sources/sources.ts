import type { Clock } from '#shared/base/clock.ts';
import type { Destinations } from '#shared/client/destinations/destinations.ts';
import { isPublic } from '#shared/client/destinations/public-address.ts';
import { systemResolve } from '#shared/client/destinations/resolve.ts';
import { sendWherePermitted } from '#shared/client/send-where-permitted.ts';
import { readGivenFile } from '#shared/config/given-file.ts';
import type { Config, SourceConfig } from '#shared/config/schema.ts';
import { openProvider, type OpenIdProvider } from './provider.ts';

/** Milliseconds for one request to a provider; a person waits for the page that follows. */
const PATIENCE = 5000;
/** Most octets of an answer: Entra's metadata and keys have 20 KiB. */
const MOST = 262_144;

/** A source at which people sign in. */
export interface Source {
  readonly config: SourceConfig;
  /** The name on pages. */
  readonly title: string;
  readonly provider: OpenIdProvider;
}

/** The sources of the configuration, by name. */
export type Sources = ReadonlyMap<string, Source>;

/** The path at which a sign-in by a source begins. */
export const startPath = (name: string) => `/sign-in/with/${name}`;

/** The path to which a provider leads the browser back. Each source has its own, so that answers cannot be mixed up. */
export const callbackPath = (name: string) => `${startPath(name)}/callback`;

/** The path to which a provider sends logout tokens. */
export const logoutPath = (name: string) => `${startPath(name)}/logout`;

/** Opens the sources of the configuration. Asks none of them. Throws `ConfigError` if a secret cannot be read. */
export async function openSources(
  { issuer, sources }: Pick<Config, 'issuer' | 'sources'>,
  clock: Clock,
): Promise<Sources> {
  const opened = sources.map(async (config, index): Promise<[string, Source]> => {
    const { name, title = name, provider } = config;
    const file = provider.clientSecretFile;
    const secret =
      file &&
      (await readGivenFile(`sources.${index}.provider.clientSecretFile`, file)).replace(
        /\r?\n$/,
        '',
      );
    const network = {
      destinations: destinationsOf(provider),
      resolve: systemResolve,
      milliseconds: PATIENCE,
      most: MOST,
    };
    const parts = {
      send: (message: Parameters<typeof sendWherePermitted>[0]) =>
        sendWherePermitted(message, network),
      clock,
      redirectUri: issuer + callbackPath(name),
      secret: secret || undefined,
    };
    return [name, { config, title, provider: openProvider(provider, parts) }];
  });
  return new Map(await Promise.all(opened));
}

/**
 * An operator may name an issuer at any address. Its metadata name further hosts, which must be at public addresses, so
 * that a provider cannot make this server ask inner servers.
 */
function destinationsOf({ issuer }: SourceConfig['provider']): Destinations {
  const { hostname } = new URL(issuer);
  const own = hostname.replaceAll(/[[\]]/g, '');
  return {
    concerning: ({ host, port }) => {
      if (host === own) return () => true;
      return port === 443 ? isPublic : undefined;
    },
  };
}
