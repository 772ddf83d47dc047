import type { RefusalCode } from '#shared/refusals/table.ts';
import { own } from './own.ts';

/** One thing that a server checks. The steps of a scheme stand in the order in which its own function takes them. */
export interface Step {
  readonly name: string;
  /** In words: the state in which it passes. */
  readonly check: string;
  readonly section: string;
  /** The refusals of this step. One step of a list may have none: all refusals that no other step has are its own. */
  readonly refusals?: readonly RefusalCode[];
}

/**
 * `no`: it is not so, and the server goes on, with another answer. `not yet`: the client has not heard yet what it needs. `open`: only the server can say. `not reached`: a server
 * stops at the first refusal.
 */
export type Result = 'right' | 'wrong' | 'no' | 'not yet' | 'open' | 'not reached';

/** The results in words. */
export const RESULT_WORDS: Readonly<Record<Result, string>> = {
  right: 'right',
  wrong: 'wrong',
  no: 'no',
  'not yet': 'not yet',
  open: 'only the server can tell',
  'not reached': 'not reached',
};

/** One step, and what came of it. */
export interface Check extends Pick<Step, 'check' | 'section'> {
  readonly result: Result;
  /** Why it is wrong or not so, or what the server compares. */
  readonly reason?: string;
}

/** Why a step is wrong: a refusal of the server tells the step by its code, and what explain alone finds names it. */
export interface Wrong {
  readonly reason: string;
  readonly refusal?: string;
  readonly step?: string;
}

/**
 * Returns the steps of a scheme with their results. `wrong`: why the scheme's own function refuses; undefined: it does
 * not. `open`: by the name of a step, what only the server can compare.
 */
export function checksOf(
  steps: readonly Step[],
  wrong: Wrong | undefined,
  open: Readonly<Record<string, string>> = {},
): readonly Check[] {
  const at = wrong === undefined ? steps.length : stepOf(steps, wrong);
  return steps.map(({ name, check, section }, index): Check => {
    const step = { check, section };
    if (index > at) return { ...step, result: 'not reached' };
    if (index === at && wrong) return { ...step, result: 'wrong', reason: wrong.reason };
    const reason = own(open, name);
    return reason === undefined
      ? { ...step, result: 'right' }
      : { ...step, result: 'open', reason };
  });
}

/** Returns steps to which a server does not come. */
export const notReached = (steps: readonly Pick<Step, 'check' | 'section'>[]): readonly Check[] =>
  steps.map(({ check, section }) => ({ check, section, result: 'not reached' }));

/** Returns the index of the step that is wrong. */
export function stepOf(
  steps: readonly Step[],
  { step, refusal }: Pick<Wrong, 'step' | 'refusal'>,
): number {
  const named = steps.findIndex(
    ({ name, refusals }) => name === step || refusals?.some((code) => code === refusal),
  );
  return named === -1 ? steps.findIndex(({ refusals }) => refusals === undefined) : named;
}
