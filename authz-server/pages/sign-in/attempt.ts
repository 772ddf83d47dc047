import type { Context } from 'koa';
import type { Means } from '#shared/people/access/sign-ins.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import type { SignInProps } from '../frame/view.ts';

/** Somebody who has shown who they are, and how. */
export interface Shown {
  readonly person: Authenticated;
  readonly means: Means;
}

export type Attempt = Shown | { readonly problem: NonNullable<SignInProps['problem']> };

/** Checks what a sign-in form shows. */
export type AttemptWith = (ctx: Context, form: URLSearchParams) => Promise<Attempt>;
