import { loadConfig } from '#shared/config/load.ts';
import { maskedUrl } from '#shared/base/masked-url.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Command } from '../arguments/command.ts';

export const configPrint: Command = {
  name: 'config print',
  summary: 'print the configuration in force: file, environment and defaults, without secrets',
  run: async (_, { env }) => {
    const config = masked(await loadConfig(env));
    return { json: config, lines: JSON.stringify(config, null, 2).split('\n') };
  },
};

function masked(config: Config): Config {
  const { store } = config;
  if (store.kind === 'sqlite') return config;
  const own = withoutPasswords(store);
  return {
    ...config,
    store: 'redis' in own && own.redis ? { ...own, redis: withoutPasswords(own.redis) } : own,
  };
}

const withoutPasswords = <S extends { readonly urls: string[] }>(servers: S): S => ({
  ...servers,
  urls: servers.urls.map(maskedUrl),
});
