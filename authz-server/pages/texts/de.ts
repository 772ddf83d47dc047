import { html, strong } from '#shared/pages/html.ts';
import type { Texts } from './en.ts';
import { accountDe } from './account-de.ts';
import { endOneDe } from './end-one-de.ts';
import { homeDe } from './home-de.ts';
import { adminDe } from './admin/de.ts';
import { activityDe } from './activity-de.ts';
import { addressesDe } from './addresses-de.ts';
import { dataDe } from './data-de.ts';
import { passkeysDe } from './passkeys-de.ts';
import { passwordDe } from './password-de.ts';
import { registrationDe } from './registration-de.ts';
import { sourcesDe } from './sources-de.ts';
import { secondFactorDe } from './second-factor-de.ts';
import { ownSessionsDe } from './own-sessions.ts';

export const de: Texts = {
  locale: 'de-DE',
  yourAccount: 'Ihr Konto',
  signOut: 'Abmelden',
  youAre: 'Angemeldet als',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  tryAgain: (when) => `Versuchen Sie es ${when} noch einmal.`,
  programOn: (program, system) => `${program} auf ${system}`,
  scopes: {
    openid: 'Wissen, wer Sie auf diesem Server sind',
    profile:
      'Ihre Namen kennen, den Namen, mit dem Sie sich anmelden, Ihr Bild, Ihre Webseiten, Geschlecht, Geburtstag, Zeitzone und Sprache',
    email: 'Ihre E-Mail-Adresse kennen und ob sie bestätigt ist',
    phone: 'Ihre Telefonnummer kennen',
    address: 'Ihre Postanschrift kennen',
    groups: 'Wissen, in welchen Gruppen Sie sind',
    offline_access: 'Zugriff behalten, während Sie nicht da sind, bis Sie ihn beenden',
    'private-token':
      'Marken holen, die Ihnen anderswo Zutritt geben, ohne zu sagen, wer Sie sind. Dort erfährt niemand, dass Sie es waren; hier erfährt niemand, wo Sie sie verwenden.',
  },

  items: {
    aboutYou: 'Über Sie',
    at: (resource) => `In „${resource}“`,
    here: 'Bei diesem Server',
    required: 'gehört immer dazu',
  },

  signIn: {
    title: 'Anmelden',
    problemTitle: 'Fehler: Anmelden',
    toContinue: (client) => html`um weiter zu ${strong(client)} zu gelangen`,
    purposes: {
      account: 'um zu Ihrem Konto zu gelangen',
      device: 'um ein Gerät zu verbinden',
      access: 'um über eine Anwendung zu entscheiden',
      admin: 'um diesen Server zu verwalten',
    },
    asks: {
      'second-factor': (client) =>
        html`${strong(client)} verlangt einen zweiten Faktor oder einen Passkey. Ein Passwort allein
        reicht nicht.`,
      passkey: (client) =>
        html`${strong(client)} verlangt einen Passkey. Ein Passwort reicht nicht.`,
    },
    name: 'Name',
    password: 'Passwort',
    show: 'Zeigen',
    showWhat: ', was ich eingebe',
    submit: 'Anmelden',
    forgotten: 'Passwort vergessen?',
    register: 'Konto anlegen',
    orSignIn: 'Wenn Sie schon ein Konto haben, melden Sie sich an:',
    usePasskey: 'Passkey benutzen',
    usePasskeyAgain: 'Passkey benutzen, wie beim letzten Mal',
    noSecondFactor: 'Wenn Sie noch keinen haben, richten Sie ihn nach Ihrem Passwort ein.',
    tooLongAgo: (ago) =>
      `Sie haben sich zuletzt ${ago} angemeldet. Melden Sie sich noch einmal an, um fortzufahren.`,
    noPasskey: 'Sie haben noch keinen?',
    makePasskey: 'Legen Sie einen in Ihrem Konto an',
    passkeyFailed:
      'Der Browser hat keinen Passkey gezeigt: Es wurde abgebrochen, dauerte zu lange, oder dieses Gerät hat hier keinen.',
    cancel: 'Abbrechen',
    wrong: 'Name oder Passwort ist falsch. Prüfen Sie beides und versuchen Sie es noch einmal.',
    'use-passkey':
      'Ihr Passwort stimmt, aber es braucht auch einen zweiten Faktor. Benutzen Sie Ihren Passkey: Er ist beides. Wenn Sie ihn verloren oder nie einen angelegt haben, fragen Sie, wer diesen Server betreibt: Im zweiten Fall kennt vielleicht jemand anders Ihr Passwort.',
    'step-over':
      'Der zweite Schritt hat zu lange gedauert oder ist schon getan. Beginnen Sie neu mit Name und Passwort.',
    'codes-shown':
      'Ihr zweiter Faktor ist schon eingerichtet, und seine Ersatzcodes wurden einmal gezeigt. Wenn Sie sie nicht aufbewahrt haben, melden Sie sich an und machen Sie auf Ihrer Kontoseite unter „Zweiter Faktor“ neue.',
    later: 'Es gab zu viele Versuche, sich anzumelden.',
    passkey:
      'Dieser Passkey lässt Sie nicht ein: Er wurde entfernt oder ist für einen anderen Ort. Nehmen Sie einen anderen Weg.',
    'passkey-late':
      'Das hat länger als fünf Minuten gedauert, oder die Seite wurde zweimal gesendet. Benutzen Sie den Passkey noch einmal.',
    'arrival-over':
      'Die Anmeldung hat zu lange gedauert, oder Ihr Browser hat sie zweimal gesendet. Beginnen Sie neu.',
    'arrival-needs-passkey':
      'Ihr Konto braucht auch einen zweiten Faktor. Melden Sie sich mit Ihrem Passkey an.',
    orWith: 'Oder mit einem Konto anderswo:',
    withSource: (title: string) => `Anmelden mit ${title}`,
    sourceDown: (title: string) =>
      `${title} antwortet im Augenblick nicht. Melden Sie sich anders an.`,
    'passkey-copied':
      'Dieser Passkey wurde abgelehnt, denn vielleicht hat jemand eine Kopie davon. Nehmen Sie einen anderen Weg und entfernen Sie ihn dann.',
    notices: {
      'nothing-ended':
        'Es wurde nichts beendet: Sie sind hier nicht mehr angemeldet. Melden Sie sich an und beenden Sie es dann noch einmal.',
      'nothing-changed':
        'Es wurde nichts geändert: Sie sind hier nicht mehr angemeldet. Melden Sie sich an und tun Sie es dann noch einmal.',
      'passkey-removed':
        'Der Passkey ist entfernt. Sie hatten sich hier mit ihm angemeldet, darum ist dieser Browser abgemeldet.',
      'not-enough': 'Sie sind angemeldet, aber hier ist eine stärkere Anmeldung nötig.',
      again: 'Melden Sie sich noch einmal an, bevor Sie ändern, wie Sie sich anmelden.',
      'again-for-data': 'Melden Sie sich noch einmal an, bevor Sie Ihre Daten herunterladen.',
      'again-to-remove': 'Melden Sie sich noch einmal an, bevor Sie Ihr Konto löschen.',
      admin:
        'Wer verwaltet, meldet sich mit zweitem Faktor oder Passkey an, und nach zehn Minuten von neuem.',
    },
  },

  ...passwordDe,

  consent: {
    title: (client) => `${client} Zugriff erlauben?`,
    lead: (client) =>
      html`${strong(client)} bittet um Folgendes. Entfernen Sie das Häkchen, wo Sie nichts erlauben
      möchten.`,
    toHost: (host) => html`Danach geht Ihr Browser zu ${strong(host)}.`,
    toThisMachine: (host) =>
      html`Danach geht Ihr Browser zu einem Programm auf diesem Computer, unter ${strong(host)}.`,
    toApp: (scheme) =>
      html`Danach öffnet Ihr Browser die App auf diesem Gerät, die Links mit ${strong(scheme)}
      öffnet.`,
    toServer: (host: string) => html`Danach erfährt ${strong(host)}, wie Sie entschieden haben.`,
    end: 'Sie können das jederzeit auf Ihrer Kontoseite beenden.',
  },

  rights: {
    actions: (actions: string, type: string) => `${actions} (${type})`,
    datatypes: (types: string) => `von diesen Daten: ${types}`,
    identifier: (name: string) => `mit dem Namen ${name}`,
    locations: (places: string) => `bei ${places}`,
    privileges: (names: string) => `mit diesen Rechten: ${names}`,
  },

  unknownClient: {
    title: 'Diese Anwendung kennt hier niemand.',
    unnamed: 'eine Anwendung ohne Namen',
    text: 'Wie sie sich auch nennt: Erlauben Sie nur, was Sie gerade selbst begonnen haben.',
    key: 'Ihr Schlüssel:',
  },

  describedClient: {
    text: (host: string, name: string) =>
      html`Diese Anwendung hat hier niemand angemeldet. Alles, was von ihr bekannt ist, sagt
      ${strong(host)}; dort nennt sie sich ${strong(name)}.`,
    registered: (host: string, name: string) =>
      html`Die Betreiber dieses Servers haben ${strong(host)} benannt. Den Namen ${strong(name)} hat
      sich die Anwendung selbst gegeben.`,
    native:
      'Jedes Programm auf diesem Rechner könnte sich für sie ausgeben. Erlauben Sie das nur, wenn Sie es gerade selbst begonnen haben.',
  },

  deviceEntry: {
    title: 'Ein Gerät verbinden',
    problemTitle: 'Fehler: Ein Gerät verbinden',
    lead: 'Ihr Gerät zeigt einen Code. Geben Sie ihn hier ein, um das Gerät zuzulassen.',
    code: 'Code',
    hint: 'Acht Buchstaben, etwa BCDF-GHJK. Großschreibung und Bindestriche sind egal.',
    submit: 'Weiter',
    unknown:
      'Dieser Code ist nicht bekannt oder abgelaufen. Vergleichen Sie ihn mit dem auf Ihrem Gerät.',
    later: 'Sie haben zu viele Codes eingegeben.',
  },

  deviceConfirm: {
    title: (client) => `${client} verbinden?`,
    compare: 'Vergleichen Sie diesen Code mit dem, den Ihr Gerät zeigt:',
    warningTitle: 'Hat Ihnen jemand diesen Code geschickt?',
    linkTitle: 'Hat Ihnen jemand diesen Link geschickt?',
    warning:
      'Dann lehnen Sie ab. Wer ihn geschickt hat, bekäme Zugriff in Ihrem Namen. Erlauben Sie nur ein Gerät, das Sie in der Hand halten oder vor sich sehen und das Sie gerade selbst einrichten.',
    asked: 'Angefragt',
    address: 'Von der Adresse',
    program: 'Mit dem Programm',
    unknown: 'nicht bekannt',
    lead: (client) =>
      html`${strong(client)} bekäme Folgendes. Entfernen Sie das Häkchen, wo Sie nichts erlauben
      möchten.`,
  },

  deviceEnd: {
    done: {
      title: 'Ihr Gerät ist verbunden',
      text: 'Es hat jetzt Zugriff. Sie können diese Seite schließen und zu Ihrem Gerät zurückkehren.',
    },
    denied: {
      title: 'Es wurde nichts verbunden',
      text: 'Sie haben den Zugriff verweigert. Der Code gilt nicht mehr.',
    },
    expired: {
      title: 'Dieser Code gilt nicht mehr',
      text: 'Er ist abgelaufen oder wurde schon benutzt. Beginnen Sie auf dem Gerät noch einmal, um einen neuen zu bekommen.',
    },
    application: 'Anwendung',
    account: 'Ansehen, was Zugriff hat',
    again: 'Einen anderen Code eingeben',
  },

  selectAccount: {
    title: 'Konto wählen',
    text: (client, person) =>
      html`${strong(client)} fragt, welches Konto Sie verwenden wollen. Sie sind angemeldet als
      ${strong(person)}.`,
    goOn: (person) => `Weiter als ${person}`,
    other: 'Anderes Konto verwenden',
    cancel: 'Abbrechen',
  },

  otherPerson: {
    title: {
      expected: 'Das ist für jemand anderen',
      rule: 'Diese Anwendung ist nicht für Sie',
    },
    expected: (client, person) =>
      html`${strong(client)} erwartet eine andere Person. Sie sind angemeldet als ${strong(person)}.
      Wenn Sie ein anderes Konto haben, nehmen Sie jenes.`,
    rule: (client, person) =>
      html`${strong(client)} ist für andere Personen. Sie sind angemeldet als ${strong(person)}.
      Wenn Sie ein anderes Konto haben, nehmen Sie jenes. Zugang gibt Ihnen, wer diesen Server
      betreibt.`,
    other: 'Anderes Konto verwenden',
    back: 'Abbrechen',
  },

  goOn: {
    title: (client) => `Zurück zu ${client}`,
    text: 'Ihr Browser geht von selbst dorthin. Geschieht nichts, drücken Sie den Knopf. Öffnet sich eine App, können Sie diese Seite schließen.',
    on: 'Weiter',
  },

  accessEnd: {
    done: {
      title: 'Der Zugriff ist erlaubt',
      text: 'Die Anwendung hat jetzt Zugriff. Sie können diese Seite schließen.',
    },
    denied: {
      title: 'Es wurde nichts erlaubt',
      text: 'Die Anwendung bekommt keinen Zugriff. Sie können diese Seite schließen.',
    },
  },

  signOutPage: {
    title: 'Abmelden?',
    lead: `Sie werden in diesem Browser abgemeldet. Anwendungen, die nur arbeiten, solange Sie angemeldet sind, verlieren ihren Zugriff. ${ownSessionsDe}`,
    asked: (client) => html`${strong(client)} möchte Sie hier abmelden.`,
    stay: 'Angemeldet bleiben',
  },

  signedOut: {
    title: 'Sie sind abgemeldet',
    text: `Sie können diese Seite jetzt schließen. ${ownSessionsDe}`,
    signIn: 'Wieder anmelden',
  },

  error: {
    expired: {
      title: 'Diese Seite ist zu alt',
      text: 'Sie ist abgelaufen, wurde schon benutzt oder gehört zu einem anderen Browser. Haben Sie zweimal gedrückt, zählt vielleicht das erste Mal. Beginnen Sie dort noch einmal, wo Sie hergekommen sind.',
    },
    done: {
      title: 'Die Anmeldung ist erledigt',
      text: 'Sie haben zweimal gedrückt oder sind zurückgegangen. Das erste Mal zählt, und die Anwendung hat ihre Antwort. Machen Sie dort weiter.',
    },
    request: {
      title: 'Diese Anfrage lässt sich nicht beantworten',
      text: 'Die Anwendung, die Sie hierher geschickt hat, bittet um etwas, das nicht möglich ist. Es wurde nichts geändert.',
    },
    'not-found': {
      title: 'Hier ist nichts',
      text: 'Vielleicht ist die Adresse falsch geschrieben, oder was hier war, gibt es nicht mehr.',
    },
    later: {
      title: 'Zu viele Anfragen',
      text: 'Von hier kam in kurzer Zeit zu viel. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
    },
    unavailable: {
      title: 'Wir können gerade nicht antworten',
      text: 'Ein Teil dieses Dienstes reagiert nicht. Versuchen Sie es in einem Moment noch einmal.',
    },
    server: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das ist unser Fehler. Der Grund steht im Protokoll des Servers. Versuchen Sie es in einem Moment noch einmal.',
    },
    back: {
      account: 'Zu Ihrem Konto',
      device: 'Ein Gerät verbinden',
      home: 'Zur Startseite',
      client: 'Zurück zur Anwendung',
    },
  },

  account: accountDe,

  home: homeDe,
  admin: adminDe,

  activity: activityDe,
  addresses: addressesDe,
  data: dataDe,
  passkeys: passkeysDe,
  registration: registrationDe,
  secondFactor: secondFactorDe,
  sources: sourcesDe,

  keyLink: {
    title: 'Einen Schlüssel erzeugen',
    text: 'Öffnen Sie diesen Link in dem Browser, der den Schlüssel haben soll, hier oder auf einem anderen Gerät. Er gilt einmal, zehn Minuten lang, und nicht länger, als Sie hier angemeldet sind.',
    warning:
      'Wer ihn öffnet, kann einen Schlüssel erzeugen, der ihn als Sie einlässt. Geben Sie ihn niemandem.',
    back: 'Zurück zu Ihrem Konto',
  },

  endOne: endOneDe,

  endEverything: {
    title: 'Alles beenden?',
    text: `Sie werden in jedem Browser abgemeldet, auch in diesem, und alle Anwendungen und Geräte verlieren sofort ihren Zugriff. Das lässt sich nicht rückgängig machen: Jeder Zugriff muss neu erlaubt werden. ${ownSessionsDe}`,
    browsers: 'Diese Browser werden abgemeldet:',
    applications: 'Diese Anwendungen verlieren ihren Zugriff:',
    more: 'Diese Liste ist nicht vollständig; auch der Rest endet.',
    stays:
      'Ihr Passwort, Ihre Passkeys und Ihre Schlüssel bleiben: Ändern oder entfernen Sie, was jemand anderes haben könnte.',
    submit: 'Alles beenden',
    keep: 'Nichts beenden',
    done: {
      title: 'Alles ist beendet',
      text: `Sie sind überall abgemeldet, und keine Anwendung und kein Gerät hat noch Zugriff. Sie können sich wieder anmelden. ${ownSessionsDe}`,
      untold: (names: string) =>
        `Diesen Anwendungen konnte der Server es noch nicht mitteilen, er versucht es weiter: ${names}.`,
      signIns: 'Browser, die angemeldet waren',
      grants: 'Anwendungen und Geräte, die Zugriff hatten',
    },
  },
};
