import { loadConfig } from './load.ts';
import { listenerOf, localOrigin } from './local-origin.ts';
import type { Config } from './schema.ts';

/**
 * Loads the configuration of one of the two servers of `countersign start`. The resource server connects to the
 * listener of the authorization server, unless the environment names another address. The public URL may lead through a
 * proxy whose certificate only browsers trust, or may not be reachable from here.
 */
export async function loadPairConfig(env: NodeJS.ProcessEnv): Promise<Config> {
  const config = await loadConfig(env);
  if (env['COUNTERSIGN_AUTHZ_URL'] || env['COUNTERSIGN_AUTHZ_URL_FILE']) return config;
  return loadConfig({ ...env, COUNTERSIGN_AUTHZ_URL: localOrigin(listenerOf(config, 'authz')) });
}
