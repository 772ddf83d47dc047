import type { PasswordFault } from '#shared/people/password-rules.ts';
import type { PasskeysProps } from './account-view.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Profile } from '#shared/stores/people/people.ts';
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

export interface SignInProps {
  /** The URL to which the form (`name`, `password`, and `hidden`) is posted. */
  readonly action: string;
  /** Prefilled: `login_hint`, or what was typed before. */
  readonly name?: string;
  /** Name of the client that the person is on the way to. */
  readonly client?: string;
  /** The URL of the logo of the client. */
  readonly logo?: string | undefined;
  /** Whether people set up second factors here. */
  readonly hasSecondFactors?: boolean;
  /** The way to sign in that was used last in this browser, which the page offers first. */
  readonly last?: 'passkey';
  /** The client asks for this way to sign in, or a stronger one. */
  readonly asks?: 'second-factor' | 'passkey';
  /** When the person signed in here last, if that is too long ago for what follows; milliseconds since the epoch. */
  readonly since?: number;
  /** The page of this server to which the person wants to go. */
  readonly purpose?: 'account' | 'device' | 'access' | 'admin';
  /**
   * `nothing-ended`, `nothing-changed`: the person was no longer signed in; `passkey-removed`: the passkey of this
   * sign-in was removed, which ended it; `again`: the next step needs a new sign-in; `not-enough`: the last sign-in was
   * too weak; `admin`: an administrator's last sign-in was too weak or too long ago.
   */
  readonly notice?:
    | 'nothing-ended'
    | 'nothing-changed'
    | 'passkey-removed'
    | 'again'
    | 'not-enough'
    | 'admin';
  /** The form that gives up and returns to the client. Absent: there is no client to return to. */
  readonly cancel?: {
    readonly action: string;
    readonly hidden?: Readonly<Record<string, string>>;
  };
  readonly hidden?: Readonly<Record<string, string>>;
  /**
   * `later`: the page is 429, with the `seconds` until the next attempt is allowed. All others: the page is 422, since
   * 401 is for HTTP schemes.
   */
  readonly problem?:
    | {
        readonly kind:
          | 'wrong'
          | 'step-over'
          | 'codes-shown'
          | 'use-passkey'
          | 'passkey'
          | 'passkey-late'
          | 'passkey-copied';
      }
    | { readonly kind: 'later'; readonly seconds: number };
  /** The options with which a browser asks for a passkey, as JSON (WebAuthn section 5.5); absent: none can be used here. */
  readonly passkey?: string;
  /** The URL for requesting a link for a new password by mail. Absent: there is no such page. */
  readonly forgotten?: string;
  /** The URL for making an account. Absent: there is no such page. */
  readonly register?: string;
}

/** A secret of one-time codes that no app has yet. */
export interface NewSecondFactor {
  /** The URI (`otpauth`) of the QR code. */
  readonly uri: string;
  /** In base32, for typing. */
  readonly secret: string;
  /** The passkeys and keys that let the person in without a code. */
  readonly ways: readonly OtherWay[];
}

/** A passkey or a key. The person can have it removed with the set-up of a second factor: the form sends `item`. */
export interface OtherWay {
  readonly item: string;
  readonly kind: 'passkey' | 'key';
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The box is ticked already. */
  readonly isTicked?: boolean;
}

/** `recovery`: the recovery code is wrong; `ways`: the person has other ways to come in than the form listed. */
export type SecondFactorProblem =
  | { readonly kind: 'wrong' | 'recovery' | 'ways' }
  | { readonly kind: 'later'; readonly seconds: number };

/** The step after the password. */
export interface SecondStep {
  readonly name: string;
  /** The sealed state, which the form sends back as `step`. */
  readonly state: string;
  /** The person must have a second factor and has none. */
  readonly setUp?: NewSecondFactor;
  readonly problem?: SecondFactorProblem;
}

/** Where a person begins again with name and password. */
interface Again {
  readonly again: string;
}

/** The form is posted where that of the password was: `code` or `recovery`, `step`, and `hidden`. */
export type SecondStepProps = SecondStep &
  Again &
  Pick<SignInProps, 'action' | 'hidden' | 'client' | 'purpose' | 'cancel'>;

export interface RecoveryCodesProps {
  /** As they are read. */
  readonly codes: readonly string[];
  /** The URL of the next page. */
  readonly goOn: string;
  /** The codes replace earlier ones of the same second factor. */
  readonly renewed?: true;
}

interface SecondFactorFrame {
  /** The URL to which the forms are posted: `change` = set-up | another | renew | remove. */
  readonly action: string;
  readonly back: string;
  readonly hasPassword: boolean;
  /** `removed`: just now; `codes-shown`: the recovery codes were shown by an answer that this one takes the place of. */
  readonly notice?: 'removed' | 'codes-shown';
  readonly problem?: SecondFactorProblem;
}

export type SecondFactorProps = SecondFactorFrame &
  (
    | {
        readonly setUp: NewSecondFactor;
        readonly state: string;
        /** Whether it replaces the second factor that the person has. */
        readonly isAnother: boolean;
      }
    | {
        /** Milliseconds since the epoch. */
        readonly since: number;
        /** How many recovery codes are left. */
        readonly left: number;
        /** The operator demands one. */
        readonly required: boolean;
      }
  );

/** The fault of a form for a new password. `wrong`: that of the old one; the others name the rule that the new one breaks. */
export type NewPasswordProblem =
  | { readonly kind: 'wrong' | 'same' | PasswordFault }
  | { readonly kind: 'later'; readonly seconds: number };

export interface ChangePasswordProps {
  /** The URL to which the form is posted: `current`, `password`, and `others` = end. */
  readonly action: string;
  /** The URL of the page to return to without a change. */
  readonly back: string;
  readonly name: string;
  /** Whether there is an old one, which is asked for. */
  readonly hasPassword: boolean;
  /** Whether the box is ticked that ends the other sign-ins. */
  readonly endsOthers: boolean;
  readonly problem?: NewPasswordProblem;
}

export interface ForgottenProps {
  /** The URL to which the form is posted: `name`. */
  readonly action: string;
  /** The name that the person typed before. */
  readonly name?: string;
  readonly back: string;
  readonly problem?: { readonly kind: 'later'; readonly seconds: number };
}

export interface AskToRegisterProps {
  /** The URL to which the form is posted: `address`. */
  readonly action: string;
  readonly back: string;
  /** The address that was typed before. */
  readonly typed?: string;
  readonly problem?:
    | { readonly kind: 'address' }
    | { readonly kind: 'later'; readonly seconds: number };
}

export interface RegisterProps {
  /** The URL to which the form is posted: `name`, and `password` or `passkey`. */
  readonly action: string;
  /** Absent: the page is for the first administrator. */
  readonly address?: string;
  /** The name that was typed before. */
  readonly name?: string;
  /** The options with which a browser makes a passkey, as JSON; absent: none can be made here. */
  readonly options?: string;
  readonly problem?: { readonly kind: 'name' | 'taken' | 'failed' | 'late' | PasswordFault };
}

export interface AddressesProps {
  /** Forms are posted here: `address`. */
  readonly action: string;
  readonly back: string;
  readonly emails: NonNullable<Profile['emails']>;
  /** A link was sent by mail. */
  readonly sent?: boolean;
  /** The address that was typed before. */
  readonly typed?: string;
  /** `verified`: the address is already confirmed. */
  readonly problem?:
    | { readonly kind: 'address' | 'verified' }
    | { readonly kind: 'later'; readonly seconds: number };
}

export interface ConfirmAddressProps {
  /** The URL to which the form is posted. */
  readonly action: string;
  readonly address: string;
  /** The address that the new one replaces. */
  readonly former?: string;
}

export interface RecoverProps {
  /** The URL to which the forms are posted: `password`, or `passkey`. */
  readonly action: string;
  readonly name: string;
  readonly purpose: 'invitation' | 'recovery';
  /** The second factor is removed as well. */
  readonly secondFactor: boolean;
  /** The options with which a browser makes a passkey, as JSON; absent: the link makes none. */
  readonly options?: string;
  readonly problem?: { readonly kind: PasswordFault };
  readonly passkeyProblem?: PasskeysProps['problem'];
}

export interface RecoveredProps {
  readonly by: 'password' | 'passkey';
  readonly purpose: 'invitation' | 'recovery';
  /** The URL for signing in. */
  readonly account: string;
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

export interface DeviceEntryProps {
  /** Where `user_code` is sent by GET. */
  readonly action: string;
  readonly userCode?: string;
  readonly problem?:
    | { readonly kind: 'unknown' }
    | { readonly kind: 'later'; readonly seconds: number };
}

export interface DeviceConfirmProps {
  /** The URL to which the form is posted: `user_code`, `item` for each that is allowed, `decision` = allow | deny. */
  readonly action: string;
  readonly client: string;
  /** The code as the device shows it: ABCD-EFGH. Absent: the person came by a link. */
  readonly userCode?: string;
  readonly items: readonly AskedItem[];
  /** As in `ConsentProps`. */
  readonly redirectUri?: string;
  /** Where the client is told of the decision; its host is shown. */
  readonly pushUri?: string;
  /** The fingerprint of the key of a client that no operator registered. */
  readonly unknown?: string;
  /** Where and when the device asked. */
  readonly from: { readonly address?: string; readonly agent?: string; readonly at: number };
}

/** The end of the approval of a device. `expired` is also used for an unknown code. */
export interface DeviceEndProps {
  readonly end: 'done' | 'denied' | 'expired';
  readonly client?: string;
  /** The URL for entering another code. */
  readonly again: string;
}

export interface OtherPersonProps {
  /** `expected`: the client expects another person. `rule`: the operator's rule for the client names other people. */
  readonly reason: 'expected' | 'rule';
  readonly client: string;
  /** The name of the person who is signed in. */
  readonly person: string;
  /** The URL to which the form is posted: `decision` = deny. */
  readonly action: string;
  readonly hidden?: Readonly<Record<string, string>>;
  /** Where another person can sign in. */
  readonly other: string;
}

/** The browser goes on to a client by itself. */
export interface GoOnProps {
  /** The client's redirect URI with the answer to its request. */
  readonly href: string;
  readonly client: string;
}

/** The end of a GNAP request without a user code. */
export interface AccessEndProps {
  readonly end: 'done' | 'denied';
  readonly client: string;
}

export interface SignOutProps {
  /** The URL to which the form is posted, with `hidden` and, to sign out, `logout` = yes. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** Name of the client that asked for it. */
  readonly client?: string;
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
