package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// tracingVariables ask for traces; the OpenTelemetry SDK reads the address
// from them, and much else from variables of its own.
func tracingVariables() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}
}

// newTracer gives a tracer that sends spans where the environment says, or
// drops them where it says nothing. stop sends what is left.
func newTracer(ctx context.Context, version string, log *slog.Logger) (tracer trace.Tracer, stop func(context.Context) error, err error) {
	wanted := func(v string) bool { return os.Getenv(v) != "" }
	if !slices.ContainsFunc(tracingVariables(), wanted) || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return noop.NewTracerProvider().Tracer(programName), func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", programName), attribute.String("service.version", version)),
		resource.WithFromEnv(), // last: OTEL_SERVICE_NAME wins
	)
	if err != nil {
		return nil, nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	// A collector that is away is no reason to fail; the SDK has one place for
	// what goes wrong in the background.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return provider.Tracer(programName), provider.Shutdown, nil
}
