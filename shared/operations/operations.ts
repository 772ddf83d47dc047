import { listClients } from './clients/client-list.ts';
import { removeClient } from './clients/client-remove.ts';
import { renewSecret } from './clients/client-secret.ts';
import { showClient } from './clients/client-show.ts';
import type { Operation } from './operation.ts';
import { disableUser, enableUser } from './people/user-disable.ts';
import { setUser } from './people/user-set.ts';

/** Everything that an operator can do by the command line, over HTTP and on pages alike. */
export const OPERATIONS: readonly Operation[] = [
  listClients,
  showClient,
  renewSecret,
  removeClient,
  setUser,
  disableUser,
  enableUser,
];
