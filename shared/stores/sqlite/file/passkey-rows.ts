import { type NewPasskey, personText } from '../../people/new-passkey.ts';
import type { Statements } from './connection.ts';

/** Whether there is a passkey of this id, for whomever. */
export const hasPasskey = (connection: Statements, id: string): boolean =>
  connection.all('SELECT 1 FROM passkey WHERE id = ?', id).length > 0;

/** Writes the row of a new passkey, within a transaction of the caller. */
export function putPasskey(connection: Statements, passkey: NewPasskey): void {
  const { id, accountId, created_at } = passkey;
  connection.run(
    'INSERT INTO passkey (id, person, created, record) VALUES (?, ?, ?, ?)',
    id,
    personText(accountId),
    created_at,
    JSON.stringify(passkey),
  );
}
