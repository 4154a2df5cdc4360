import { z } from 'zod'

/** The reason in words why somebody of the team does something about money. */
export const GivenReason = z.string().trim().min(1).max(500).describe('Why, in words. For the team.')

/** The body of a request by the team that takes only a reason. */
export const WithReason = z.object({ reason: GivenReason })
