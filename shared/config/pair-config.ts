import { loadConfig } from './load.ts';
import { localOrigin } from './local-origin.ts';
import type { Config } from './schema.ts';

/**
 * The configuration of a server that `countersign start` runs beside the other: the resource server reaches the
 * authorization server where that listens, unless the environment says otherwise. The public way may lead through a
 * proxy with a certificate that only browsers know, or not lead back here.
 */
export async function loadPairConfig(env: NodeJS.ProcessEnv): Promise<Config> {
  const config = await loadConfig(env);
  if (env['COUNTERSIGN_AUTHZ_URL_FILE']) return config;
  return loadConfig({ COUNTERSIGN_AUTHZ_URL: localOrigin(config.listen.authz), ...env });
}
