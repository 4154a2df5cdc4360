import { BadConfiguration } from '../config.ts'
import { LogUnavailable } from '../event-log/event-log.ts'
import { TimedOut, withTimeout } from '../timeout.ts'

/** An error of the library with all that it carries. */
const partsOf = (error: unknown): readonly Error[] => {
  if (!(error instanceof Error)) return []
  const inner = error instanceof AggregateError ? error.errors.flatMap(partsOf) : []
  return [error, ...inner, ...partsOf(error.cause)]
}

/** True where a broker gave one of these answers, which bear the names of the protocol. */
export const isAnswer = (error: unknown, ...names: readonly string[]): boolean =>
  partsOf(error).some((part) => 'apiId' in part && names.includes(String(part.apiId)))

/** The most telling message: of the innermost error. */
const reasonOf = (error: unknown): string =>
  partsOf(error).at(-1)?.message ?? (error instanceof Error ? error.message : String(error))

const faults: readonly { readonly variable: string; readonly shows: RegExp; readonly fault: string }[] = [
  { variable: 'KAFKA_TLS', shows: /TLS handshake failed/, fault: 'the broker does not speak TLS' },
  {
    variable: 'KAFKA_CA_FILE',
    shows: /certificate|CERT_|altnames/i,
    fault: 'the certificate of the broker does not fit',
  },
  {
    variable: 'KAFKA_SASL_MECHANISM',
    shows: /suitable SASL mechanism|UNSUPPORTED_SASL/,
    fault: 'the broker does not take this mechanism',
  },
  {
    variable: 'KAFKA_USERNAME',
    shows: /SASL_AUTHENTICATION_FAILED|PLT_KFK_AUTHENTICATION/,
    fault: 'the user or password is wrong',
  },
  { variable: 'KAFKA_TOPIC', shows: /TOPIC_AUTHORIZATION_FAILED/, fault: 'the user has no right to this topic' },
  { variable: 'KAFKA_TOPIC', shows: /GROUP_AUTHORIZATION_FAILED/, fault: 'the user has no right to the group' },
  {
    variable: 'KAFKA_TOPIC',
    shows: /CLUSTER_AUTHORIZATION_FAILED/,
    fault: 'there is no such topic, and the user has no right to create it',
  },
]

/** The variable that is wrong, when that is why a call failed; the message never holds the password. */
export const misconfiguration = (error: unknown, address: string): BadConfiguration | undefined => {
  const shown = partsOf(error)
    .flatMap((part) => [
      part.message,
      'code' in part ? String(part.code) : '',
      'apiId' in part ? String(part.apiId) : '',
    ])
    .join('\n')
  const found = faults.find(({ shows }) => shows.test(shown))
  return found && new BadConfiguration(`${found.variable}: ${found.fault} (${address}: ${reasonOf(error)})`)
}

const callMs = 8_000

/** The brokers cannot be used at the moment, whatever the log itself can. */
export class BrokersUnavailable extends LogUnavailable {}

/** Makes a call with a deadline. Whatever fails is `BrokersUnavailable`: nothing about an event can make a call fail. */
export const called = async <Result>(what: string, call: Promise<Result>, milliseconds = callMs): Promise<Result> => {
  try {
    return await withTimeout(call, milliseconds)
  } catch (cause) {
    const reason = cause instanceof TimedOut ? cause.message : reasonOf(cause)
    throw new BrokersUnavailable(`Kafka: ${what}: ${reason}`, { cause })
  }
}
