import { readFile } from 'node:fs/promises';
import yaml from 'js-yaml';
import { z } from 'zod';

const FILE = new URL('../../docker-compose.yml', import.meta.url);

const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  networks: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]),
  ports: z.array(z.string()).default([]),
});

const compose = z.looseObject({
  services: z.record(z.string(), service),
  configs: z.record(z.string(), z.strictObject({ content: z.string() })),
});

export type Compose = z.infer<typeof compose>;
export type Service = z.infer<typeof service>;

/** `docker-compose.yml` with these variables put in. Throws for a variable that is missing, as Compose does. */
export async function readCompose(variables: Readonly<Record<string, string>>): Promise<Compose> {
  const document = JSON.stringify(yaml.load(await readFile(FILE, 'utf8')));
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
