import type { Identity } from '#shared/stores/people/people.ts';
import type { PagesServer } from '../../base/server.ts';
import { createTickets, type Tickets } from '../frame/tickets.ts';

/** The path of the page where a person links and unlinks accounts. */
export const LINKED_PATH = '/account/sources';

/** An account elsewhere that a person has shown, and may link. */
export interface Offer extends Identity {
  /** How the source calls the account, for the person to recognise it. */
  readonly label: string;
  /** The session (`uid`) whose person may link it. */
  readonly session: string;
}

/** Seconds for which an offer is valid. */
const LIFE = 300;

export const createOffers = (server: PagesServer): Tickets<Offer> =>
  createTickets(server, { name: 'offered account', life: LIFE });
