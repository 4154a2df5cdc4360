import { directoryFold, emptyDirectory } from '#domain/access/record.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { openLookups, type Database } from '#infra/postgres/lookups.ts'
import { checkFolds, checkParts, type ApiRole, type Parts } from '#infra/parts.ts'
import type { Route } from '#infra/http/route.ts'
import { makeTokens } from '#infra/crypto/tokens.ts'
import { applicationRoutes } from './applications/routes.ts'
import { catalogueRoutes } from './catalogue/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { documentationRoutes } from './documentation/routes.ts'
import { ownerOfQuote, quoteRoutes } from './quotes/routes.ts'

/** Everything that can be read. */
export const queryRoutes = (deps: Pick<Parts, 'pool' | 'keys'> & { readonly db: Database }): readonly Route[] => [
  ...catalogueRoutes(deps),
  ...applicationRoutes(deps),
  ...quoteRoutes(deps),
  ...deliveryRoutes(deps),
]

export const startQueryApi = async (parts: Parts): Promise<ApiRole> => {
  const { config, keys, log, metrics, folds, rateLimit } = parts
  const directory = await folds.follow(directoryFold, emptyDirectory())
  const admission = makeAdmission({
    directory,
    tokens: makeTokens(keys, config.BASE_URL),
    baseUrl: config.BASE_URL,
    rateLimit,
    operatorKey: config.OPERATOR_KEY,
    requireCurrent: () => folds.requireCurrent(directoryFold.name),
  })
  const lookups = openLookups(parts.pool)
  const app = httpApp(queryRoutes({ ...parts, db: lookups }), {
    log,
    metrics,
    admission,
    subjectCheck: makeSubjectCheck({ keys, owners: { quote: ownerOfQuote(lookups) } }),
    clock: parts.clock,
    trustedProxies: config.TRUSTED_PROXIES,
    checkAnswers: false,
    before: [await documentationRoutes(config.BASE_URL)],
  })
  return {
    app,
    checks: async () => [...(await checkParts(parts, lookups)), ...(await checkFolds(parts))],
    stop: lookups.close,
  }
}
