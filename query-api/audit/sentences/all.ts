import type { Json } from '#domain/event.ts'
import { claimSentences, loyaltySentences, policySentences, premiumSentences } from './policies.ts'
import {
  customerSentences,
  erasureSentences,
  ingestSentences,
  leadSentences,
  messageNewsSentences,
  outcomeSentences,
  outreachPersonSentences,
} from './people.ts'
import {
  applicationSentences,
  checkoutSentences,
  marketSentences,
  paymentSentences,
  paymentStreamSentences,
  quoteSentences,
} from './sales.ts'
import { legalHoldSentences } from './legal-holds.ts'
import { complaintSentences } from './complaints.ts'
import { retentionSentences } from './retention.ts'
import type { Money } from './sentence.ts'
import {
  approvalSentences,
  catalogueSentences,
  connectionSentences,
  deliverySentences,
  firmSentences,
  installationSentences,
  organisationSentences,
  outreachSentences,
  userSentences,
} from './set-up.ts'

const sentences = {
  ...applicationSentences,
  ...quoteSentences,
  ...checkoutSentences,
  ...marketSentences,
  ...paymentSentences,
  ...paymentStreamSentences,
  ...policySentences,
  ...premiumSentences,
  ...claimSentences,
  ...complaintSentences,
  ...loyaltySentences,
  ...customerSentences,
  ...leadSentences,
  ...ingestSentences,
  ...outcomeSentences,
  ...legalHoldSentences,
  ...erasureSentences,
  ...messageNewsSentences,
  ...retentionSentences,
  ...outreachPersonSentences,
  ...organisationSentences,
  ...approvalSentences,
  ...catalogueSentences,
  ...firmSentences,
  ...connectionSentences,
  ...deliverySentences,
  ...installationSentences,
  ...outreachSentences,
  ...userSentences,
}

type Sentence = (event: Json, money: Money) => string

/** An event as a sentence. */
export const sentenceOf = (type: string, event: Json, money: Money): string =>
  // Each has the event of its own name, as the maps that they are made of say.
  (sentences as unknown as Readonly<Record<string, Sentence | undefined>>)[type]?.(event, money) ?? type

export const sentencesOf: readonly string[] = Object.keys(sentences)
