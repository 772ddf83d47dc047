import { showClient } from '#shared/operations/clients/client-show.ts';
import { clientLines } from '../clients/client-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const clientShow = commandOf(showClient, { lines: clientLines });
