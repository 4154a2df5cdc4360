import { startStandIn, type StandInAnswer } from './stand-in.ts'

/** Answers by the last two digits of a number; any other number is in use. */
const magic: Readonly<Record<string, StandInAnswer>> = {
  '91': { status: 200, body: { valid: true, validation_errors: [], line_status: { status: 'inactive' } } },
  '92': { status: 200, body: { valid: true, validation_errors: [], line_status: { status: 'unreachable' } } },
  '93': { status: 200, body: { valid: true, validation_errors: [], line_status: { status: 'unknown' } } },
  '94': { status: 200, body: { valid: false, validation_errors: ['INVALID_LENGTH'], line_status: null } },
  '95': { status: 503, body: { code: 20503, message: 'Service unavailable' } },
  '96': 'hang',
}

/** Speaks Twilio Lookup v2. */
export const startPhoneValidation = (port?: number) =>
  startStandIn(({ url, header }) => {
    const number = /^\/v2\/PhoneNumbers\/([^/]+)$/.exec(url.pathname)?.[1]
    if (number === undefined) return { status: 404, body: { code: 20404, message: 'The resource was not found' } }
    if (!header('authorization')?.startsWith('Basic '))
      return { status: 401, body: { code: 20003, message: 'Authenticate' } }
    const phone_number = decodeURIComponent(number)
    const found = magic[phone_number.slice(-2)]
    if (found === 'hang') return 'hang'
    const usual = { valid: true, validation_errors: [], line_status: { status: 'active' } }
    const { status, body } = found ?? { status: 200, body: usual }
    return { status, body: { phone_number, country_code: 'GB', ...Object(body) } }
  }, port)
