import type * as z from 'zod';
import type { Mistake } from '#shared/base/mistake.ts';
import { choices } from './known-members.ts';
import { configSchema } from './schema.ts';

/** The beginning of the name of every variable of ours. */
export const PREFIX = 'COUNTERSIGN_';
/** The end of a variable that names a file with the value. */
export const FILE = '_FILE';

/** The variable of a setting. */
export interface SettingVariable {
  readonly name: string;
  /** Members of the configuration, from the outermost to the setting. */
  readonly path: readonly string[];
  /** Whether the value may be plain text. All other values are JSON. */
  readonly isText: boolean;
  /** Whether the value may be a list or an object. */
  readonly isStructure: boolean;
}

/**
 * Settings whose variable has another name than the rule gives. The image sets `listen.host`, so this name is short.
 * `listen` as a whole has no variable.
 */
const RENAMED: Readonly<Record<string, string | undefined>> = {
  $schema: undefined,
  listen: undefined,
  'listen.host': 'LISTEN',
};

/**
 * The rule that names the variable of a setting: its members in capitals, with `_` between words and members. So
 * `people.passkeys.rpId` is COUNTERSIGN_PEOPLE_PASSKEYS_RP_ID. A list or a record is one variable.
 */
export const SETTING_VARIABLES: ReadonlyMap<string, SettingVariable> = new Map(
  variablesBelow(configSchema, []).map((variable) => [variable.name, variable]),
);

function variablesBelow(schema: z.ZodType, path: readonly string[]): readonly SettingVariable[] {
  const kinds = choices(schema);
  const members = kinds.flatMap((kind) =>
    'shape' in kind ? Object.entries(kind.shape as Readonly<Record<string, z.ZodType>>) : [],
  );
  const below = members.flatMap(([name, member]) => variablesBelow(member, [...path, name]));
  const types: ReadonlySet<string> = new Set(kinds.map(({ type }) => type));
  const isText = ['string', 'enum', 'literal'].some((type) => types.has(type));
  const isStructure = ['object', 'array', 'record'].some((type) => types.has(type));
  const name = nameOf(path);
  return name === undefined ? below : [{ name, path, isText, isStructure }, ...below];
}

function nameOf(path: readonly string[]): string | undefined {
  const dotted = path.join('.');
  if (path.length === 0) return undefined;
  const words = path.map((member) => member.replaceAll(/[A-Z]/g, '_$&')).join('_');
  const name = dotted in RENAMED ? RENAMED[dotted] : words.toUpperCase();
  return name && `${PREFIX}${name}`;
}

/** Returns the mistakes with the variable in place of the path of a setting that a variable gives. */
export function namedByVariable(
  mistakes: readonly Mistake[],
  env: NodeJS.ProcessEnv,
): readonly Mistake[] {
  const given = givenSettings(env).toSorted((a, b) => b.path.length - a.path.length);
  return mistakes.map((mistake) => {
    for (const { variable, path } of given) {
      const setting = path.join('.');
      if (`${mistake.path}.`.startsWith(`${setting}.`)) {
        return { ...mistake, path: variable + mistake.path.slice(setting.length) };
      }
    }
    return mistake;
  });
}

/** Returns the settings that the environment sets, each with the name of its variable. */
export function givenSettings(
  env: NodeJS.ProcessEnv,
): readonly (SettingVariable & { readonly variable: string })[] {
  return Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX) && env[variable])
    .flatMap((variable) => {
      const setting =
        SETTING_VARIABLES.get(variable) ??
        (variable.endsWith(FILE)
          ? SETTING_VARIABLES.get(variable.slice(0, -FILE.length))
          : undefined);
      return setting === undefined ? [] : [{ ...setting, variable }];
    });
}
