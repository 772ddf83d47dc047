/** A passkey that comes with a new person, as far as it decides where the record is kept (`PasskeyRecord`). */
export interface NewPasskey {
  readonly id: string;
  readonly accountId: string;
  readonly created_at: number;
}

/** Returns the text that names a person in an index of passkeys. No such text is the beginning of another. */
export const personText = (accountId: string): string => JSON.stringify(accountId);
