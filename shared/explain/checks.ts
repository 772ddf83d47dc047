import type { RefusalCode } from '#shared/refusals/table.ts';
import { own } from './own.ts';

/** A check of a server. The steps of a scheme have the order in which the scheme's own function makes them. */
export interface Step {
  readonly name: string;
  /** The state in which the check passes, in words. */
  readonly check: string;
  readonly section: string;
  /** The refusals of this step. One step of a list may have none: it gets all refusals that no other step has. */
  readonly refusals?: readonly RefusalCode[];
}

/**
 * `no`: the check fails, but the server continues, with another answer. `not yet`: the client does not yet have what
 * it needs. `open`: only the server can decide. `not reached`: the server has stopped at an earlier refusal.
 */
export type Result = 'right' | 'wrong' | 'no' | 'not yet' | 'open' | 'not reached';

/** The results of checks, in words for people. */
export const RESULT_WORDS: Readonly<Record<Result, string>> = {
  right: 'right',
  wrong: 'wrong',
  no: 'no',
  'not yet': 'not yet',
  open: 'only the server can tell',
  'not reached': 'not reached',
};

/** A step and its result. */
export interface Check extends Pick<Step, 'check' | 'section'> {
  readonly result: Result;
  /** The reason of a failure, or the value that only the server can compare. */
  readonly reason?: string;
}

/**
 * The reason for which a step fails. A refusal of the server identifies the step by its code; a fault that only
 * explain finds names the step.
 */
export interface Wrong {
  readonly reason: string;
  readonly refusal?: string;
  readonly step?: string;
}

/**
 * Returns the steps of a scheme with their results. `wrong`: the refusal of the scheme's own function; undefined if
 * it does not refuse. `open`: by the name of a step, the value that only the server can compare.
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

/** Returns steps that the server does not reach. */
export const notReached = (steps: readonly Pick<Step, 'check' | 'section'>[]): readonly Check[] =>
  steps.map(({ check, section }) => ({ check, section, result: 'not reached' }));

/** Returns the index of the step that fails. */
export function stepOf(
  steps: readonly Step[],
  { step, refusal }: Pick<Wrong, 'step' | 'refusal'>,
): number {
  const named = steps.findIndex(
    ({ name, refusals }) => name === step || refusals?.some((code) => code === refusal),
  );
  return named === -1 ? steps.findIndex(({ refusals }) => refusals === undefined) : named;
}
