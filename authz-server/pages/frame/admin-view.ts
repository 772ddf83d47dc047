/** A way to the page of an operation. */
export interface AdminLink {
  readonly href: string;
  readonly text: string;
  /** It leads to what takes something from somebody. */
  readonly danger?: true;
  /** Its effect, or what it is for. */
  readonly does?: string;
}

/** The navigation on every page of administrators. */
export interface AdminNav {
  readonly sections: readonly AdminNavLink[];
  /** The groups of operations in the section of the page, if there are several. */
  readonly groups: readonly AdminNavLink[];
  /** Where the search is sent by GET, with the member `q`. */
  readonly search: string;
  /** The text that was searched. */
  readonly searched?: string;
}

interface AdminNavLink extends AdminLink {
  /** `page`: the link leads to this page; `true`: the page is in this section or group. */
  readonly isHere?: 'page' | 'true';
}

/** A row of a table. */
export interface AdminRow {
  readonly item: unknown;
  /** Its own page. */
  readonly href?: string;
  /** The cells that lead somewhere, by column, in place of the members of `item`. */
  readonly cells?: Readonly<Record<string, AdminLink | undefined>>;
  /** The ways to what can be done with it. */
  readonly links?: readonly AdminLink[];
}

/** A page of a list as a table. */
export interface AdminTable {
  /** Names of members. */
  readonly columns: readonly string[];
  readonly rows: readonly AdminRow[];
  /** Said if there are no rows. */
  readonly empty?: string;
  /** The next page. */
  readonly next?: string;
}

/** An event of the audit log: a line, and its details on click. */
export interface AdminEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly title: string;
  /** The person or client that it is about. */
  readonly about?: string;
  readonly details: readonly (readonly [label: string, value: string | AdminLink | undefined])[];
}

/** A page of the audit log. */
export interface AdminEvents {
  readonly events: readonly AdminEvent[];
  /** The next page. */
  readonly next?: string;
}

/** A further part of a page, under a heading of its own. */
export type AdminSection = (AdminTable | AdminEvents) & {
  /** Its name in the page. */
  readonly id: string;
  readonly title: string;
  /** More of the same. */
  readonly more?: AdminLink;
};

/** Something that an administrator should look at. */
export interface AdminNotice {
  readonly text: string;
  readonly href: string;
  readonly detail?: string;
}

export interface AdminHomeProps {
  readonly nav: AdminNav;
  readonly name: string;
  readonly figures: readonly (readonly [label: string, value: string])[];
  readonly notices: readonly AdminNotice[];
  readonly recent: AdminSection;
  /** The usual actions. */
  readonly links: readonly AdminLink[];
}

/** The results of a search. */
export interface AdminSearchProps {
  readonly nav: AdminNav;
  readonly sections: readonly AdminSection[];
}

/** A member of an operation, as a form asks for it. */
export interface AdminField {
  /** The name of the member, and of the field. */
  readonly name: string;
  readonly label: string;
  /** Whether the label is in English, in every language. */
  readonly isEnglish?: true;
  /** `secret`: it is not readable while it is typed, nor shown again; `lines`: several values, one a line; `choice`: one of `options`; `choices`: several of them. */
  readonly kind: 'text' | 'secret' | 'number' | 'lines' | 'choice' | 'choices';
  /** The texts that somebody typed, or that are proposed. */
  readonly values: readonly string[];
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly required: boolean;
  /** Not marked as optional: it filters, or most need it. */
  readonly isUsual?: true;
  /** The form in which it is written. */
  readonly hint?: string;
  /** The mistake in it, in English. */
  readonly problem?: string;
}

/** Fields of a long form below a heading of their own. */
export interface AdminPart {
  readonly title: string;
  readonly fields: readonly AdminField[];
  /** Whether the fields are seen at once. */
  readonly isOpen: boolean;
}

/** The result of an operation: a page of a list, or one thing. */
export type AdminTold =
  | ({ readonly kind: 'list' } & AdminTable)
  | ({ readonly kind: 'events' } & AdminEvents)
  | { readonly kind: 'one'; readonly value: unknown };

export interface AdminOperationProps {
  readonly nav: AdminNav;
  readonly title: string;
  /** Its purpose, or what will happen. */
  readonly text: string;
  /** Whether `text` is in English, in every language. */
  readonly isEnglish?: true;
  /** The way to this page, below the first of administrators; this one is last. */
  readonly path: readonly { readonly text: string; readonly href?: string }[];
  readonly home: string;
  /** Where the form is sent: by GET if it only reads. */
  readonly action: string;
  readonly effect: 'reads' | 'changes';
  readonly fields: readonly AdminField[];
  readonly parts?: readonly AdminPart[];
  /** The form also sends these: they name the thing that it works on, and nobody can change them there. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** On its button; default: the title. */
  readonly submit?: string;
  /** It takes something from somebody. */
  readonly danger?: true;
  /** How much it takes. */
  readonly warning?: string;
  /** Sent along, so that the form counts once. */
  readonly once?: string;
  /** A mistake that is in no single field; `sent`: this form counts no more. Its text is English. */
  readonly problem?:
    | { readonly kind: 'sent' }
    | { readonly kind: 'refused'; readonly text: string };
  /** Status of the page; default 200. */
  readonly status?: number;
  readonly told?: AdminTold;
  /** The forms by kind, if the form of the page is the one for all. */
  readonly kinds?: readonly AdminLink[];
  /** Lines that the developer of a new client pastes. */
  readonly lines?: string;
  /** Says that it was done just now; then there is no form. */
  readonly done?: string;
  /** Other operations with what is shown. */
  readonly links: readonly AdminLink[];
  readonly sections?: readonly AdminSection[];
}
