import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Check } from '#shared/explain/checks.ts';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';

/** The finding of a step: nothing, why the server refuses, or why it gives another answer. */
export type Finding = string | { readonly no: string } | undefined;

/** One thing that a server checks of a request, by a function of its own. */
export interface CheckStep<Known> {
  readonly check: string;
  readonly section: string;
  /** True if there is something to check. Absent: there always is. */
  applies?(known: Known): boolean;
  /** It may throw as the server does, `HttpError` or `BadRequest`: that is a refusal. */
  finds(known: Known): Awaitable<Finding>;
}

/** Makes the checks that apply, up to the first refusal. */
export async function checksInOrder<Known>(
  steps: readonly CheckStep<Known>[],
  known: Known,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  let isRefused = false;
  for (const step of steps.filter(({ applies }) => applies?.(known) ?? true)) {
    const { check, section } = step;
    const found: Finding = isRefused ? undefined : await findingOf(step, known);
    if (isRefused) checks.push({ check, section, result: 'not reached' });
    else if (found === undefined) checks.push({ check, section, result: 'right' });
    else if (typeof found === 'object')
      checks.push({ check, section, result: 'no', reason: found.no });
    else checks.push({ check, section, result: 'wrong', reason: found });
    isRefused ||= typeof found === 'string';
  }
  return checks;
}

async function findingOf<Known>({ finds }: CheckStep<Known>, known: Known): Promise<Finding> {
  try {
    return await finds(known);
  } catch (error) {
    if (error instanceof HttpError || error instanceof BadRequest) return error.message;
    throw error;
  }
}
