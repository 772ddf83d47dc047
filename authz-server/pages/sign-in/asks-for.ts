import { type Acr, BY_PROVIDER, BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import type { SignInProps } from '../views/sign-in.ts';

const ASKS: Readonly<Record<Acr, Pick<SignInProps, 'asks'>>> = {
  'urn:countersign:acr:provider': {},
  'urn:countersign:acr:password': {},
  'urn:countersign:acr:second-factor': { asks: 'second-factor' },
  'urn:countersign:acr:passkey': { asks: 'passkey' },
};

/** Returns the way to sign in that a client asks for, as the sign-in page shows it. A password needs no mention. */
export const asksFor = (least: Acr | undefined): Pick<SignInProps, 'asks'> =>
  least === undefined ? {} : ASKS[least];

/** Whether a sign-in by a provider can be strong enough: a second factor may follow it. */
export const isInReachOfProviders = (least: Acr | undefined) =>
  least === undefined || least === BY_PROVIDER.acr || least === BY_SECOND_FACTOR.acr;
