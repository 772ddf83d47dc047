import type * as z from 'zod';
import type { Config } from '#shared/config/schema.ts';
import { described, registration } from '#shared/operations/clients/client-add.ts';
import { keptGnapMembers } from '#shared/operations/clients/gnap-members.ts';
import { isBuiltIn } from '#shared/operations/clients/find-client.ts';
import { InputError, readInput } from '#shared/operations/operation.ts';
import { spellingOf } from '#shared/operations/texts.ts';
import type { DeclaredClient } from './file-schema.ts';
import type { WantedClient } from './wanted.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/** The members of a client by the options of `client add`, whose error messages name the options. */
const MEMBERS = new Map(
  Object.entries(registration.shape).map(([member, schema]) => [
    spellingOf(member, schema as z.ZodType).option,
    member,
  ]),
);

/** Options that stand for a value of a member. */
const VALUES = new Map([
  ['native', 'application_type native'],
  ['public', 'token_endpoint_auth_method none'],
]);

/** Returns a client that a file declares, and the notes on it. Throws `InputError`, in the words of the file. */
export function clientFrom(
  declared: DeclaredClient,
  config: Config,
): { readonly client: WantedClient; readonly notes: readonly string[] } {
  const { client_id, secret_hash, secret_file: _, demo, created_at, gnap, ...rest } = declared;
  const { token_endpoint_auth_method: method, application_type: type, ...asked } = rest;
  if (isBuiltIn(client_id)) {
    throw new InputError(['client_id'], saidOfFile('client-id-built-in'));
  }
  if (secret_hash !== undefined && !method.startsWith('client_secret')) {
    throw new InputError(['secret_hash'], saidOfFile('secret-of-no-method', { method }));
  }
  const kept = gnap && keptGnapMembers(gnap);
  if (kept && kept.client_id !== client_id) {
    throw new InputError(['client_id'], saidOfFile('client-id-of-key', { id: kept.client_id }));
  }
  if (kept && method !== 'none') {
    throw new InputError(['token_endpoint_auth_method'], saidOfFile('method-of-gnap'));
  }
  const isPublic = method === 'none' && kept === undefined;
  try {
    const given = {
      ...asked,
      public: isPublic,
      native: type === 'native',
      ...(method !== 'none' && { token_endpoint_auth_method: method }),
    };
    const { members, notes = [] } = described(
      readInput({ input: registration }, given),
      config,
      kept,
    );
    const client = {
      client_id,
      ...members,
      ...(secret_hash !== undefined && { secret_hash }),
      ...(demo && { demo }),
      ...(created_at !== undefined && { created_at }),
    };
    return { client, notes };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const path = error.path.map((member) => VALUES.get(member) ?? member);
    throw new InputError(path, { ...error.words, message: inMembers(error.message) });
  }
}

/** Rewrites an error message so that it names members in place of options. */
const inMembers = (message: string) =>
  message.replace(
    /--([a-z-]+[a-z])/g,
    (text, option: string) => VALUES.get(option) ?? MEMBERS.get(option) ?? text,
  );
