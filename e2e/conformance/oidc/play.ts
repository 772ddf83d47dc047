import type { OidcSite } from './oidc-site.ts';
import type { SuiteClient, Tokens } from './suite-client.ts';

/** The answer of the authorization endpoint. */
export type Mode = 'query' | 'form_post';

/** The parts with which modules are performed. */
export interface Play {
  readonly site: OidcSite;
  readonly client: SuiteClient;
  readonly mode: Mode;
}

/** A code that a client redeemed, for the module that waits. */
export interface Redeemed {
  readonly code: string;
  readonly tokens: Tokens;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Redeems a code. */
export async function redeemOnce({ site, client }: Play): Promise<Redeemed> {
  const request = client.request();
  const { answer } = await client.answer(site.visitor(), request);
  const { tokens } = await client.redeemed(answer, request);
  return { code: answer.get('code') ?? '', tokens, at: Date.now() };
}

/** Resolves when the clock shows this time, in milliseconds since the epoch. */
export async function untilTime(time: number): Promise<void> {
  const rest = time - Date.now();
  if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
}
