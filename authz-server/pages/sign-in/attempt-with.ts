import type { PagesServer } from '../../base/server.ts';
import type { AttemptWith } from './attempt.ts';
import { createPasswordSignIn } from './password-sign-in.ts';

/** A form of the sign-in page has a name and a password. */
export const createAttempt = (server: PagesServer): AttemptWith => createPasswordSignIn(server);
