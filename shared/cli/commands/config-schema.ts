import { configJsonSchema } from '#shared/config/json-schema.ts';
import type { Command } from '../arguments/command.ts';

export const configSchemaCommand: Command = {
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration file',
  run: async () => {
    const schema = configJsonSchema();
    return { json: schema, lines: JSON.stringify(schema, null, 2).split('\n') };
  },
};
