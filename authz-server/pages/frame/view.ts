import type { Brand } from '#shared/pages/document.ts';
import type { Language } from '#shared/pages/language.ts';

export type { Language };

/** The data that every page is rendered with. */
export interface View {
  readonly language: Language;
  readonly brand: Brand;
  /** The value of the hidden field `csrf` in every form, which proves that our own page sent the form. */
  readonly csrf: string;
  /** The name of the person who is signed in. The page's head then has links to the account and to signing out. */
  readonly person?: string;
  /** Milliseconds since the epoch: the time that the page says is now. */
  readonly now: number;
}

/** One thing that a client asks for, as a person reads it and as a form sends it. */
export interface AskedItem {
  /** Value of the form's `item` field, and unique on the page. */
  readonly id: string;
  /** The text in the page's language; the scope itself if there is no text for it. */
  readonly text: string;
  /** The current values of the claims. */
  readonly values?: readonly string[];
  readonly scope: string;
  /** URL of the resource; absent from what is about the person alone (OpenID Connect). */
  readonly resource?: string;
  /** The name of the resource for people; absent for resources of this server itself. */
  readonly place?: string | undefined;
  /** Whether the person cannot refuse this item alone. */
  readonly required: boolean;
}

export interface ConsentProps {
  /** The URL to which the form is posted: `item` for each that is allowed, `decision` = allow | deny. */
  readonly action: string;
  readonly client: string;
  /** The URL of the logo of the client. */
  readonly logo?: string | undefined;
  /** Where the browser goes afterwards; its host is shown. Absent: it stays here. */
  readonly redirectUri?: string;
  /** Where the client is told of the decision; its host is shown. */
  readonly pushUri?: string;
  /**
   * The name that a client gives itself in its document, whether any program on this machine could be it, and whether an
   * operator registered the address of the document.
   */
  readonly described?: {
    readonly name: string;
    readonly native: boolean;
    readonly registered: boolean;
    readonly since: number;
  };
  /** The fingerprint of the key of a client that no operator registered. */
  readonly unknown?: string;
  readonly items: readonly AskedItem[];
}

export interface ErrorProps {
  readonly status: number;
  /** `expired`: a form or sign-in that is too old or from another browser. `done`: the client has its answer. */
  readonly kind: 'expired' | 'done' | 'request' | 'not-found' | 'later' | 'unavailable' | 'server';
  /** The fault of a client's request, for its developer; shown as it is. */
  readonly detail?: string;
  /** The request id, with which the operator finds the request in the log. */
  readonly id?: string | undefined;
  /** Where a person can go on from here. */
  readonly back?: {
    readonly href: string;
    readonly text: 'account' | 'device' | 'home' | 'client';
  };
}
