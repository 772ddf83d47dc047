import { loadConfig } from '#shared/config/load.ts';
import { isProduction } from '#shared/config/production.ts';
import { configWarnings } from '#shared/config/warnings.ts';
import type { Command } from '../command.ts';

export const configCheck: Command = {
  name: 'config check',
  summary: 'say everything that is wrong with a configuration, in the environment as it is',
  operands: ['[FILE]'],
  details: ['FILE: default is COUNTERSIGN_CONFIG.'],
  run: async ({ operands: [file] }, { env }) => {
    const config = await loadConfig(
      file === undefined ? env : { ...env, COUNTERSIGN_CONFIG: file },
    );
    const mode = isProduction(config) ? 'production' : 'development';
    const warnings = configWarnings(config);
    return {
      json: { ok: true, mode, ...(warnings.length > 0 && { warnings }) },
      lines: [
        `The configuration can be used. This is ${mode}: ${MEANING[mode]}.`,
        ...warnings.map(({ path, message }) => `Look again: ${path} ${message}.`),
      ],
    };
  },
};

const MEANING = {
  production: 'the pair can be reached from elsewhere',
  development: 'every listener and origin is on loopback',
};
