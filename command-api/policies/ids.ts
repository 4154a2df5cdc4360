import { PremiumId } from '#domain/premiums/events.ts'
import { derivedId } from '#infra/ids.ts'

/** The id of each premium of a policy, by its number. */
export const premiumIds =
  (policy_id: string) =>
  (number: number): PremiumId =>
    PremiumId.parse(derivedId('premium', policy_id, String(number)))
