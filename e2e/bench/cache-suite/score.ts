import * as z from 'zod';

const test = z.object({
  id: z.string(),
  kind: z.enum(['required', 'optimal', 'check']).default('required'),
  depends_on: z.array(z.string()).default([]),
});

/** The output of one run of the client. */
export const outcome = z.object({
  groups: z.array(z.object({ tests: z.array(test) })),
  /** True, or the name and the message of the failure. A test for browsers has no result. */
  results: z.record(z.string(), z.union([z.literal(true), z.tuple([z.string(), z.string()])])),
});

export type Outcome = z.infer<typeof outcome>;
export type Kind = Outcome['groups'][number]['tests'][number]['kind'];

export interface Failing {
  readonly id: string;
  readonly kind: Kind;
  readonly why: string;
}

export interface Score {
  readonly of: Readonly<Record<Kind, number>>;
  readonly passed: Readonly<Record<Kind, number>>;
  /** The number of passed tests, whatever the tests did that they depend on. */
  readonly alone: number;
  readonly failing: readonly Failing[];
}

/**
 * Counts as the suite does for its table: a test passes only if all tests pass that it depends on, directly
 * or not.
 */
export function scoreOf({ groups, results }: Outcome): Score {
  const tests = new Map(groups.flatMap((group) => group.tests.map((one) => [one.id, one])));

  function whyNot(id: string): string | undefined {
    const missing = tests.get(id)?.depends_on.find((other) => whyNot(other) !== undefined);
    if (missing !== undefined) return `depends on ${missing}`;
    const result = results[id];
    if (result === true) return undefined;
    return result === undefined ? 'was not run' : result.join(': ');
  }

  const run = [...tests.values()].filter(({ id }) => id in results);
  const verdicts = run.map(({ id, kind }) => ({ id, kind, why: whyNot(id) }));
  const count = (all: typeof verdicts) => {
    const of = (wanted: Kind) => all.filter(({ kind }) => kind === wanted).length;
    return { required: of('required'), optimal: of('optimal'), check: of('check') };
  };
  return {
    of: count(verdicts),
    passed: count(verdicts.filter(({ why }) => why === undefined)),
    alone: run.filter(({ id }) => results[id] === true).length,
    failing: verdicts.flatMap(({ id, kind, why }) => (why === undefined ? [] : { id, kind, why })),
  };
}
