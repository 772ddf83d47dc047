import type { PersonRecord } from '#shared/stores/people.ts';
import type { Command } from '../command.ts';
import { columns } from '../printable.ts';
import { withStores } from '../with-stores.ts';

export const userList: Command = {
  name: 'user list',
  summary: 'list the people who may sign in',
  run: (_, shell) =>
    withStores(shell, async ({ people }) => {
      const list = await people.list();
      return {
        json: list.map(withoutHash),
        lines: list.length === 0 ? ['There is nobody yet.'] : columns(list.map(row)),
      };
    }),
};

const withoutHash = (person: PersonRecord) => ({ ...person, password_hash: undefined });

const row = ({ id, name, disabled, demo }: PersonRecord) => [
  id,
  name,
  disabled ? '(disabled)' : '',
  demo ? '(demo: refused in production)' : '',
];
