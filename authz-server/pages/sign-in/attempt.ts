import type { Context } from 'koa';
import type { Acr } from '#shared/jose/acr.ts';
import type { Means } from '#shared/people/access/sign-ins.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import type { SecondStep, SignInProps } from '../frame/view.ts';

/** Somebody who has shown who they are, and how. */
export interface Shown {
  readonly person: Authenticated;
  readonly means: Means;
  /** Recovery codes that were made on the way, to be shown once. */
  readonly codes?: readonly string[];
}

/** The password was right, and a page asks for more. */
export interface Unfinished {
  readonly step: SecondStep;
}

export type Attempt =
  | Shown
  | Unfinished
  | { readonly problem: NonNullable<SignInProps['problem']> };

/**
 * Checks what a sign-in form shows. `least`: the way that is asked for. Somebody who has no second factor is led through
 * the set-up if one is asked for.
 */
export type AttemptWith = (ctx: Context, form: URLSearchParams, least?: Acr) => Promise<Attempt>;
