import * as z from 'zod';
import { configSchema } from './schema.ts';

/** The JSON Schema (draft 2020-12) of the configuration file, for editors. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: 'input' });
}
