import { LEVELS } from '#shared/jose/acr.ts';

type Members = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Least seconds of `maxAge`, as in the configuration of the servers. */
const SHORTEST = 10;
const LONGEST = 31_536_000;
const METHOD = /^(?:safe|unsafe|[A-Z-]{1,24})$/;

const isAge = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= SHORTEST && Number(value) <= LONGEST;
const isMethods = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => METHOD.test(String(one)));

const SIGN_IN: Readonly<Record<string, Check>> = {
  acr: (value) =>
    LEVELS.some((level) => level === value) ? undefined : `must be ${LEVELS.join(' or ')}`,
  maxAge: (value) =>
    isAge(value) ? undefined : `must be whole seconds from ${SHORTEST} to ${LONGEST}`,
};
const RULE: Readonly<Record<string, Check>> = {
  ...SIGN_IN,
  methods: (value) =>
    isMethods(value) ? undefined : "must be a list of methods, such as ['DELETE'] or ['unsafe']",
};

function checkBy(checks: Readonly<Record<string, Check>>, value: unknown): string | undefined {
  if (!isMembers(value)) return "must be an object, such as { acr: 'passkey', maxAge: 300 }";
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(checks, name)) {
      return `has ${name}, which is no member; there are ${Object.keys(checks).join(', ')}`;
    }
    const mistake = given === undefined ? undefined : checks[name]?.(given);
    if (mistake !== undefined) return `has a wrong ${name}: it ${mistake}`;
  }
  return value['acr'] === undefined && value['maxAge'] === undefined
    ? 'asks for nothing: name acr or maxAge'
    : undefined;
}

/** Returns the mistake in a route's required sign-in, with the remedy. */
export const checkSignIn = (value: unknown): string | undefined => checkBy(SIGN_IN, value);

/** Returns the mistake in the option `authentication`, with the remedy. */
export function checkAuthentication(value: unknown): string | undefined {
  const rules: unknown[] = Array.isArray(value) ? value : [value];
  if (rules.length === 0) return 'is empty: name what is needed, or leave it out';
  const mistake = rules.map((rule) => checkBy(RULE, rule)).find((one) => one !== undefined);
  if (mistake !== undefined) return mistake;
  const named = new Set(
    (rules as readonly Members[]).flatMap(({ methods = ['unsafe'] }) => methods),
  );
  return named.has('safe') && !named.has('unsafe')
    ? 'names safe but not unsafe, so that writing would need less than reading: add unsafe'
    : undefined;
}
