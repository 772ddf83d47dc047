import type { SchemeSpace } from '#shared/auth/schemes/parts/scheme-entry.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { SCHEMES, type Schemes } from '#shared/auth/schemes/list.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';

/** No space has sign-in, and the directory is empty. */
export const NO_SIGN_IN: SignIn = {
  session: () => undefined,
  about: async () => undefined,
  instead: () => undefined,
  pages: [],
  has: () => false,
};

/** A factory for each scheme. Each gets all parts of a space, though most schemes need fewer. */
export const everyScheme = (make: (name: string) => (site: SchemeSpace) => Scheme): Schemes =>
  Object.fromEntries(SCHEMES.map(({ name }) => [name, make(name)])) as unknown as Schemes;
