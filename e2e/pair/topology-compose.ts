import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import * as z from 'zod';

const FILE = new URL('../../docker-compose.yml', import.meta.url);

const service = z.object({
  image: z.string(),
  restart: z.string(),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  networks: z
    .union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)])
    .transform((names): readonly string[] => names),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
});

const compose = z.object({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
  configs: z.record(z.string(), z.strictObject({ content: z.string() })),
});

export type Compose = z.infer<typeof compose>;

/** `docker-compose.yml` with these variables put in. Throws for a variable that is missing, as Compose does. */
export async function readCompose(variables: Readonly<Record<string, string>>): Promise<Compose> {
  const document = JSON.stringify(parse(await readFile(FILE, 'utf8'), { merge: true }));
  const interpolated: unknown = JSON.parse(document, (_, value: unknown) =>
    typeof value === 'string' ? interpolate(value, variables) : value,
  );
  return compose.parse(interpolated);
}

/** Compose's interpolation, as far as the file uses it: `${NAME}`, `${NAME:?message}` and `$$`. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$(?:(\$)|\{(\w+)(?::\?([^}]*))?\}|)/g,
    (found, dollar?: string, name?: string, message?: string) => {
      if (dollar !== undefined) return dollar;
      if (name === undefined) throw new Error(`the ${found} in "${text}" stands for nothing`);
      const value = variables[name] ?? '';
      if (value === '') throw new Error(`required variable ${name} is missing: ${message}`);
      return value;
    },
  );
}
